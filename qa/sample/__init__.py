"""The sample of a crawl's pages, and how many pages each of them represents."""
