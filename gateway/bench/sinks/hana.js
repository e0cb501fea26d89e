/** Named absent. */
export const bench = { title: 'SAP HANA', missing: () => 'no SAP HANA was met' }
