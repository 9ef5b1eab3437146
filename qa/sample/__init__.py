"""Which pages of a crawl are looked at, and how many others each of them stands for."""
