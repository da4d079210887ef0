/** What the server and this page say to each other, as types. No code. */

/** @typedef {string | number | boolean} Value */
/** @typedef {{base: string, edits: Record<string, Value>}} Layout */
/** @typedef {{partition: string, entitlement: number, memory_bytes: number}} Tenant */
/** @typedef {{place: string, cores: string, active: number, tenants: Tenant[],
 *   used: number | null}} ChipMap */
/** @typedef {{place: string, active: number, dedicated: number, entitlement: number,
 *   memory_bytes: number, memory_room: number | null, tenants: Tenant[], chips: ChipMap[],
 *   used: number | null}} NodeMap */
/** @typedef {{partition: string, key: string, processors: string, entitlement: number,
 *   virtual: number, smt: number, memory_bytes: number, may_use: string | null,
 *   used: number | null, dispatches: number[] | null}} PartitionMap */
/** @typedef {{scenario: string, machine: string, title: string, node: string, unit: string,
 *   built_in: number, active: number, capacity: number, dedicated: number, entitlement: number,
 *   free: number, memory_bytes: number, memory_most: number, marks: Record<string, string>,
 *   used: number | null, nodes: NodeMap[], partitions: PartitionMap[]}} MachineMap */
/** @typedef {{path: string, label: string, value: Value | null,
 *   kind: "number" | "integer" | "choice" | "flag" | "text", choices: Value[] | null,
 *   min: number | null, max: number | null, step: number | null, unit: string | null,
 *   why_not: string | null}} Field */
/** @typedef {{path: string, at: string | null, to: string[], why_not: string | null}} Moves */
/** @typedef {{cores: number, response_ms: number | null, home_share: number | null,
 *   near_share: number | null, far_share: number | null, throughput: number | null}} Part */
/** @typedef {{cause: string, label: string, cores: number}} Cause */
/** @typedef {{cores: number, partitions: Record<string, Part>,
 *   causes: Record<string, Cause[]>}} Solved */
/** @typedef {{solved: {cores: number, partitions: Record<string, Part>} | null}} First
 *   Figures to a thousandth, before the whole answer; null where only that tells them. */
/** @typedef {{name: string, title: string, question: string | null, platform: string,
 *   map: MachineMap, fields: Record<string, Field[]>, moves: Record<string, Moves>,
 *   solved: Solved | null, unsolved: string | null}} Answer */
/** @typedef {{id: string, scenario: string, title: string, when: string, version: string,
 *   changes: Record<string, Value | null>}} Run  `changes`: what was set otherwise, by path. */
/** @typedef {{name: string, title: string, platform: string}} Example */
/** @typedef {{version: string, examples: Example[], runs: Run[], kept: number,
 *   scenarios: {id: string, name: string, title: string}[], local: boolean,
 *   limits: {upload_bytes: number, files: number, advise_s: number, duration_s: number}}} Start */
/** @typedef {{title: string, heads: string[], rows: (string | number | null)[][]}} Grid */
/** @typedef {{title: string, svg: string, says: string, table: Grid | null}} Picture */
/** @typedef {{left: Solved, right: Solved, rows: {partition: string, cause: string,
 *   label: string, left: number, right: number, difference: number}[], picture: string,
 *   says: string}} Difference */
/** @typedef {{title: string, lines: string[], pictures: Picture[], tables: Grid[]}} Section */
/** @typedef {{id: string, scenario: string, layout: Layout, sections: Section[]}} RunTold */
/** @typedef {{path: string, from: Value | null, to: Value, why: string}} Change */
/** @typedef {{mean: number}} Mean */
/** @typedef {{cores: Mean, saving_cores: Mean, changes: Change[], run: string | null}} Proposal */
/** @typedef {{verdict: string, told: string, best: Proposal[]}} Advice */
/** @typedef {{scenario: string, assumed: string[], tables: Grid[],
 *   gaps: {what: string, from: string, to: string}[]}} Imported */
/** @typedef {{name: string, title: string, score: string | number | null, platform: string,
 *   null_score?: string | number | null}} Study */
/** @typedef {{title: string, lines: string[], pictures: Picture[], tables: Grid[]}} StudyTold */

export {};
