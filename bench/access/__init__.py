"""Our CDX server beside others: requests per second of its processes' CPU, and their latency."""
