-- What wrk tells at its end, as one line of JSON. Times are in microseconds, as wrk keeps them.
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"bytes":%d,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},' ..
    '"latency_us":{"mean":%.3f,"p50":%.3f,"p95":%.3f,"p99":%.3f,"max":%.3f}}\n',
    summary.requests, summary.duration, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    latency.max))
end
