-- sysbench's own OLTP transactions, reported as one line of JSON a second and one at the end.
-- Which transactions: the environment's HOMENODE_OLTP (oltp_read_only or oltp_read_write).
-- Times are in seconds, as sysbench keeps them.
require(os.getenv("HOMENODE_OLTP"))

-- Where HOMENODE_GATE names a file, the last thread reads it to its end once it is connected: the
-- threads begin together, so that all wait, and connecting lies outside the measured time.
local gate = os.getenv("HOMENODE_GATE")
local connect = thread_init
function thread_init()
  connect()
  if gate and sysbench.tid == sysbench.opt.threads - 1 then
    io.open(gate):read("*a")
  end
end

-- Each line is one write: seconds and the total are reported by different threads.
local function line(kind, seconds, stat, more)
  io.write(string.format(
    '{"report":"%s","seconds":%.6f,"transactions":%d,"reads":%d,"writes":%d,"other":%d,' ..
    '"errors":%d,"reconnects":%d,"latency_pct_s":%.9f%s}\n',
    kind, seconds, stat.events, stat.reads, stat.writes, stat.other, stat.errors,
    stat.reconnects, stat.latency_pct, more))
  io.flush()
end

sysbench.hooks.report_intermediate = function(stat)
  line("second", stat.time_interval, stat, "")
end

sysbench.hooks.report_cumulative = function(stat)
  line("total", stat.time_total, stat, string.format(
    ',"latency_avg_s":%.9f,"latency_min_s":%.9f,"latency_max_s":%.9f',
    stat.latency_avg, stat.latency_min, stat.latency_max))
end
