def search_web(query: str, num_results: int = 10):
    """Search the web.

    Args:
        query: The search query
        num_results: Number of results (default: 10)
    """
    return {"query": query, "num_results": num_results, "first": f"A page about {query}"}
