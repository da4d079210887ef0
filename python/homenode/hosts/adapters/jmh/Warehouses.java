package homenode;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A wholesaler's transactions, all in memory: each thread has a warehouse with districts, customers
 * and stock, and does the next transaction as soon as the last is done. One line of a hundred is
 * taken from another thread's stock.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class Warehouses {
    static final int DISTRICTS = 10;
    static final int CUSTOMERS = 300;
    static final int ITEMS = 20_000;
    /** Of 23 transactions: 10 orders, 10 payments, and one of each of three others. */
    static final int MIX = 23;

    record Line(int item, int quantity, int cents) {}

    record Order(int number, int customer, List<Line> lines) {}

    /** What all threads see: each other's stock. */
    @State(Scope.Benchmark)
    public static class Company {
        final List<AtomicIntegerArray> stocks = new CopyOnWriteArrayList<>();
    }

    static final class District {
        final TreeMap<Integer, Order> open = new TreeMap<>();
        final long[] owed = new long[CUSTOMERS];
        final Map<Integer, Order> last = new HashMap<>();
        int next = 1;
    }

    /** A thread's own. */
    @State(Scope.Thread)
    public static class Warehouse {
        final AtomicIntegerArray stock = new AtomicIntegerArray(ITEMS);
        final int[] price = new int[ITEMS];
        final District[] districts = new District[DISTRICTS];
        final List<String> history = new ArrayList<>();
        Company company;
        long state;

        /** The same goods and customers for every thread, another order of transactions. */
        @Setup
        public void open(Company company) {
            this.company = company;
            state = 20_111;
            for (int item = 0; item < ITEMS; item++) {
                price[item] = 100 + below(9_900);
                stock.set(item, 1_000);
            }
            for (int i = 0; i < DISTRICTS; i++) {
                districts[i] = new District();
            }
            synchronized (company) {
                company.stocks.add(stock);
                state += 7_919L * company.stocks.size();
            }
        }

        int below(int limit) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) Math.floorMod(state, (long) limit);
        }

        District district() {
            return districts[below(DISTRICTS)];
        }
    }

    /** One transaction. */
    @Benchmark
    public Object transaction(Warehouse warehouse) {
        int kind = warehouse.below(MIX);
        if (kind < 10) {
            return order(warehouse);
        }
        if (kind < 20) {
            return payment(warehouse);
        }
        return switch (kind) {
            case 20 -> deliver(warehouse);
            case 21 -> status(warehouse);
            default -> lowStock(warehouse);
        };
    }

    static Object order(Warehouse warehouse) {
        District district = warehouse.district();
        int customer = warehouse.below(CUSTOMERS);
        int count = 5 + warehouse.below(11);
        List<Line> lines = new ArrayList<>(count);
        long total = 0;
        for (int i = 0; i < count; i++) {
            int item = warehouse.below(ITEMS);
            int quantity = 1 + warehouse.below(10);
            take(from(warehouse), item, quantity);
            lines.add(new Line(item, quantity, quantity * warehouse.price[item]));
            total += (long) quantity * warehouse.price[item];
        }
        Order order = new Order(district.next++, customer, lines);
        district.open.put(order.number(), order);
        district.last.put(customer, order);
        district.owed[customer] += total;
        return order;
    }

    static AtomicIntegerArray from(Warehouse warehouse) {
        List<AtomicIntegerArray> all = warehouse.company.stocks;
        return warehouse.below(100) == 0 ? all.get(warehouse.below(all.size())) : warehouse.stock;
    }

    static void take(AtomicIntegerArray stock, int item, int quantity) {
        if (stock.addAndGet(item, -quantity) < 100) {
            stock.addAndGet(item, 1_000);
        }
    }

    static Object payment(Warehouse warehouse) {
        District district = warehouse.district();
        int customer = warehouse.below(CUSTOMERS);
        int cents = 100 + warehouse.below(500_000);
        district.owed[customer] -= cents;
        StringBuilder text = new StringBuilder(64);
        text.append("customer ").append(customer).append(" paid ");
        text.append(cents / 100).append('.').append(cents % 100);
        if (warehouse.history.size() < 10_000) {
            warehouse.history.add(text.toString());
        } else {
            warehouse.history.set(warehouse.below(10_000), text.toString());
        }
        return text;
    }

    /** The oldest open order of each district. */
    static Object deliver(Warehouse warehouse) {
        long sum = 0;
        for (District district : warehouse.districts) {
            Map.Entry<Integer, Order> oldest = district.open.pollFirstEntry();
            if (oldest != null) {
                sum += oldest.getValue().lines().stream().mapToLong(Line::cents).sum();
            }
        }
        return sum;
    }

    static Object status(Warehouse warehouse) {
        District district = warehouse.district();
        int customer = warehouse.below(CUSTOMERS);
        Order last = district.last.get(customer);
        StringBuilder text = new StringBuilder(256);
        text.append(district.owed[customer]);
        if (last != null) {
            for (Line line : last.lines()) {
                text.append(' ').append(line.item()).append('x').append(line.quantity());
            }
        }
        return text.toString();
    }

    /** Different items of the last twenty orders of a district that are nearly out. */
    static Object lowStock(Warehouse warehouse) {
        District district = warehouse.district();
        Map<Integer, Integer> low = new HashMap<>();
        for (Order order : district.open.tailMap(district.next - 20).values()) {
            for (Line line : order.lines()) {
                int left = warehouse.stock.get(line.item());
                if (left < 200) {
                    low.put(line.item(), left);
                }
            }
        }
        return low.size();
    }
}
