"""The result for a pair of views: as a value, a line of JSON, cells of a row, and XML."""
