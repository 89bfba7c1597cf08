/** What a reader of the docs takes for granted. A snippet that declares a name of its own hides it. */
declare const arsenal: import("toolarsenal").ToolArsenal;
