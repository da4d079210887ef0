-- With a number of files behind `--`, and that of the tile, each request is for one of them, drawn
-- evenly; each thread draws its own, the same in every run. They lie 1,000 a folder.
local threads = 0

setup = function(thread)
  thread:set("number", threads)
  threads = threads + 1
end

init = function(arguments)
  local files = tonumber(arguments[1])
  if files then
    math.randomseed(1000 * tonumber(arguments[2]) + number + 1)
    request = function()
      local file = math.random(0, files - 1)
      return wrk.format(nil, string.format("/%d/%d", math.floor(file / 1000), file % 1000))
    end
  end
end

-- What wrk tells at its end, as one line of JSON. Times are in microseconds, as wrk keeps them.
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"bytes":%d,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},' ..
    '"latency_us":{"mean":%.3f,"p50":%.3f,"p95":%.3f,"p99":%.3f,"p99.9":%.3f,"max":%.3f}}\n',
    summary.requests, summary.duration, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    latency:percentile(99.9), latency.max))
end
