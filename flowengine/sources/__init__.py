"""Ways to reach the world outside: HTTP requests, MCP servers, and a cache before them."""
