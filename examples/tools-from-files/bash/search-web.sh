# @describe Search the web
# @option --query! The search query
# @option --num_results=10 Number of results
search_web() {
  printf '{"query":"%s","num_results":%d,"first":"A page about %s"}' "$argc_query" "$argc_num_results" "$argc_query"
}
