-- Ten questions of business reporting over the eight tables of the TPC-H schema, our own. Each
-- answer is ordered in full and made of exact sums, so that every run must give the same bytes.

-- 1 revenue by month and return flag
select date_trunc('month', l_shipdate) as month, l_returnflag,
       sum(l_extendedprice * (1 - l_discount)) as revenue, sum(l_quantity) as pieces,
       count(*) as lines
from lineitem
group by all
order by month, l_returnflag;

-- 2 the hundred best customers of each segment
select c_mktsegment, c_custkey, spent
from (
  select c_mktsegment, c_custkey, sum(o_totalprice) as spent,
         row_number() over (
           partition by c_mktsegment order by sum(o_totalprice) desc, c_custkey
         ) as place
  from customer join orders on o_custkey = c_custkey
  group by c_mktsegment, c_custkey
)
where place <= 100
order by c_mktsegment, spent desc, c_custkey;

-- 3 late deliveries by the supplier's nation
select n_name, count(*) as lines,
       count(*) filter (where l_receiptdate > l_commitdate) as late,
       sum(greatest(l_receiptdate - l_commitdate, 0)) as days
from lineitem join supplier on s_suppkey = l_suppkey join nation on n_nationkey = s_nationkey
group by n_name
order by late desc, n_name;

-- 4 trade between regions by year
select from_region.r_name as sold_from, to_region.r_name as sold_to, year(o_orderdate) as in_year,
       sum(l_extendedprice) as volume
from lineitem
join orders on o_orderkey = l_orderkey
join customer on c_custkey = o_custkey
join supplier on s_suppkey = l_suppkey
join nation as from_nation on from_nation.n_nationkey = s_nationkey
join nation as to_nation on to_nation.n_nationkey = c_nationkey
join region as from_region on from_region.r_regionkey = from_nation.n_regionkey
join region as to_region on to_region.r_regionkey = to_nation.n_regionkey
group by all
order by sold_from, sold_to, in_year;

-- 5 stock by brand, and what of it never sells fast
select p_brand, sum(ps_availqty) as pieces, sum(ps_supplycost * ps_availqty) as tied_up,
       sum(ps_supplycost * ps_availqty) filter (where sold < ps_availqty / 10) as slow
from partsupp
join part on p_partkey = ps_partkey
join (
  select l_partkey, l_suppkey, sum(l_quantity) as sold from lineitem group by l_partkey, l_suppkey
) on l_partkey = ps_partkey and l_suppkey = ps_suppkey
group by p_brand
order by tied_up desc, p_brand;

-- 6 orders by priority and number of lines
select o_orderpriority, lines, count(*) as orders, sum(o_totalprice) as worth
from orders
join (select l_orderkey, count(*) as lines from lineitem group by l_orderkey)
  on l_orderkey = o_orderkey
group by o_orderpriority, lines
order by o_orderpriority, lines;

-- 7 running revenue of each nation, month by month
select n_name, month, revenue,
       sum(revenue) over (partition by n_name order by month) as so_far,
       revenue - lag(revenue, 12) over (partition by n_name order by month) as over_last_year
from (
  select n_name, date_trunc('month', o_orderdate) as month, sum(o_totalprice) as revenue
  from orders join customer on c_custkey = o_custkey join nation on n_nationkey = c_nationkey
  group by n_name, month
)
order by n_name, month;

-- 8 customers lost: none of the last year's orders, by nation and segment
select n_name, c_mktsegment, count(*) as customers, sum(c_acctbal) as balance
from customer join nation on n_nationkey = c_nationkey
where not exists (
  select 1 from orders
  where o_custkey = c_custkey
    and o_orderdate > (select max(o_orderdate) from orders) - interval 1 year
)
group by n_name, c_mktsegment
order by n_name, c_mktsegment;

-- 9 what discounts cost, by size of the order line and way of shipping
select l_shipmode, cast(floor(l_quantity / 10) as integer) as tens, l_discount,
       count(*) as lines, sum(l_extendedprice * l_discount) as given_away,
       max(l_extendedprice) as biggest
from lineitem
where l_discount > 0
group by all
order by l_shipmode, tens, l_discount;

-- 10 the dearest parts of each maker against its cheapest offer
select p_mfgr, p_partkey, p_retailprice - cheapest as margin
from (
  select p_mfgr, p_partkey, p_retailprice, min(ps_supplycost) as cheapest,
         row_number() over (
           partition by p_mfgr order by p_retailprice - min(ps_supplycost) desc, p_partkey
         ) as place
  from part join partsupp on ps_partkey = p_partkey
  where p_type like '%STEEL' or p_name like '%green%'
  group by p_mfgr, p_partkey, p_retailprice
)
where place <= 50
order by p_mfgr, margin desc, p_partkey;
