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

-- Places of the response times that sysbench keeps and does not tell: it tells one percentile only.
-- Each thread tells them of all threads when it ends, so that the last line holds all of them; where
-- this sysbench does not let its counters be read there is no such line.
local ffi = require("ffi")
pcall(ffi.cdef, [[
  double homenode_percentile(void *histogram, double percentile)
    __asm__("sb_histogram_get_pct_cumulative");
  extern char sb_latency_histogram[1];
]])

local disconnect = thread_done
function thread_done()
  local known, places = pcall(function()
    local found = {}
    for _, place in ipairs({50, 95, 99, 99.9}) do
      -- sysbench keeps times by their buckets' bounds, in milliseconds.
      local ms = ffi.C.homenode_percentile(ffi.C.sb_latency_histogram, place)
      table.insert(found, string.format('"p%g":%.6f', place, ms))
    end
    return table.concat(found, ",")
  end)
  if known then
    io.write('{"report":"responses","places_ms":{' .. places .. '}}\n')
    io.flush()
  end
  disconnect()
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
