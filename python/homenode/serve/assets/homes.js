/** Who is at home where, how much he has there, and what a move would make of it: plain data. */

/** @typedef {import("./contract.js").MachineMap} MachineMap */
/** @typedef {import("./contract.js").NodeMap} NodeMap */
/** @typedef {import("./contract.js").Solved} Solved */
/** @typedef {import("./contract.js").Tenant} Tenant */
/** @typedef {import("./contract.js").Answer} Answer */
/** @typedef {import("./contract.js").Layout} Layout */
/** @typedef {{partition: string, share: number, cores: number | null, memory: number}} Lodger
 *   What a partition has at a node: a share of its home, cores by that share, memory. */

/** All that tenants have in a node.
 * @param {NodeMap} node */
const tenants = (node) => [...node.tenants, ...node.chips.flatMap((chip) => chip.tenants)];

/**
 * Those at each node, in the order of the partitions; those with a share of 0 have memory alone.
 * @param {MachineMap} map @param {Solved | null} solved @returns {Lodger[][]}
 */
export function lodgers(map, solved) {
  return map.nodes.map((node) => {
    const here = tenants(node);
    return map.partitions.flatMap(({ partition }) => {
      const own = here.filter((one) => one.partition === partition);
      if (!own.length) return [];
      const share = shareAt(map, node, partition);
      const cores = solved?.partitions[partition]?.cores;
      const memory = own.reduce((sum, one) => sum + one.memory_bytes, 0);
      return [{ partition, share, memory, cores: cores === undefined ? null : cores * share }];
    });
  });
}

/** By entitlement, or by memory where nothing is entitled.
 * @param {MachineMap} map @param {NodeMap} node @param {string} partition */
function shareAt(map, node, partition) {
  for (const key of /** @type {const} */ (["entitlement", "memory_bytes"])) {
    /** @param {NodeMap} at */
    const sum = (at) =>
      tenants(at).reduce((all, one) => all + (one.partition === partition ? one[key] : 0), 0);
    const all = map.nodes.reduce((total, at) => total + sum(at), 0);
    if (all > 0) return sum(node) / all;
  }
  return 0;
}

/** The places where a partition is at home.
 * @param {MachineMap} map @param {string} partition */
export function homesOf(map, partition) {
  return map.nodes.filter((node) => shareAt(map, node, partition) > 0).map((node) => node.place);
}

/** What a node can give, in the unit of the machine.
 * @param {MachineMap} map @param {NodeMap} of */
export function capacityOf(map, of) {
  return map.active ? (of.active * map.capacity) / map.active : 0;
}

/**
 * An answer as edits will make it, before the server has said so: homes on the map, what fields
 * hold. What is not edited is as it was opened.
 * @param {Answer} answer @param {Answer} opened @param {Layout["edits"]} edits @returns {Answer}
 */
export function expected(answer, opened, edits) {
  let { map } = answer;
  const moves = Object.fromEntries(Object.entries(answer.moves).map(([name, one]) => {
    const to = edits[one.path] ?? opened.moves[name]?.at ?? null;
    const at = typeof to === "string" ? to : null;
    if (at !== null && at !== one.at) map = movedOn(map, name, at);
    return [name, { ...one, at }];
  }));
  const fields = Object.fromEntries(Object.entries(answer.fields).map(([name, list]) => {
    const was = new Map(opened.fields[name]?.map(({ path, value }) => [path, value]));
    return [name, list.map((one) =>
      ({ ...one, value: edits[one.path] ?? was.get(one.path) ?? one.value }))];
  }));
  return { ...answer, map, moves, fields };
}

/**
 * The map with a partition at home elsewhere, before the server has said so.
 * @param {MachineMap} map @param {string} partition @param {string} place @returns {MachineMap}
 */
export function movedOn(map, partition, place) {
  const [target, chip] = place.split(".");
  if (!map.nodes.some((node) => node.place === target)) return map;
  const all = map.nodes.flatMap(tenants).filter((one) => one.partition === partition);
  /** @param {Tenant[]} list */
  const others = (list) => list.filter((one) => one.partition !== partition);
  const nodes = map.nodes.map((node) => {
    const here = node.place === target;
    const homes = node.chips.filter((one) => one.active && (!chip || one.place === chip));
    const chips = node.chips.map((one) => ({
      ...one,
      tenants: [
        ...others(one.tenants),
        ...(here && homes.includes(one) ? [portion(all, partition, homes.length)] : []),
      ],
    }));
    return { ...node, tenants: others(node.tenants), chips };
  });
  return { ...map, nodes };
}

/** @param {Tenant[]} all @param {string} partition @param {number} parts @returns {Tenant} */
function portion(all, partition, parts) {
  const sum = (/** @type {"entitlement" | "memory_bytes"} */ key) =>
    all.reduce((total, one) => total + one[key], 0) / parts;
  return { partition, entitlement: sum("entitlement"), memory_bytes: sum("memory_bytes") };
}
