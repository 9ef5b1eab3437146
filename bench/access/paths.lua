-- For wrk: asks for the next target of the file PATHS with each request; a line of JSON at the end.
local targets = {}
for line in io.lines(os.getenv("PATHS")) do targets[#targets + 1] = line end
local at = tonumber(os.getenv("FIRST"))

function request()
  at = at % #targets + 1
  return wrk.format("GET", targets[at])
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nJSON {"requests":%d,"bytes":%d,"failed":%d,"p50_us":%d,"p99_us":%d}\n',
    summary.requests, summary.bytes, e.status + e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
