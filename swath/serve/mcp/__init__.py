"""swath for other programs' agents: a server of the Model Context Protocol."""
