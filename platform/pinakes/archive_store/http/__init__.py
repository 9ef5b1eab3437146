"""Archive files on a web server, read by byte ranges or fetched whole."""
