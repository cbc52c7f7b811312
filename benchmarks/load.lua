-- The requests of wrk, and its figures as JSON. The paths are in the file named after "--". A single
-- request is built only once, so that wrk's own work does not affect the figures.

local requests, count, current = {}, 0, 0

function init(arguments)
  for path in io.lines(arguments[1]) do
    count = count + 1
    requests[count] = wrk.format("GET", path)
  end
  if count == 1 then
    local only = requests[1]
    request = function() return only end
  end
end

function request()
  current = current % count + 1
  return requests[current]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "seconds": %.3f, "bytes": %d, "p50_ms": %.3f, "p90_ms": %.3f,' ..
    ' "p99_ms": %.3f, "max_ms": %.3f, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(90) / 1000,
    latency:percentile(99) / 1000, latency.max / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
