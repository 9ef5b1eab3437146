"""What `make demo` needs beside `pinakes`: a small site, and a crawl of it."""
