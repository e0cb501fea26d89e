// What the forms use of Node-RED's editor and of the jQuery that it brings.

interface JQuery {
  readonly [index: number]: HTMLElement
  readonly length: number
  addClass (name: string): this
  append (...content: unknown[]): this
  appendTo (target: JQuery): this
  attr (name: string): string | undefined
  attr (name: string, value: string | number): this
  first (): JQuery
  children (): JQuery
  closest (selector: string): JQuery
  each (visit: (index: number, element: HTMLElement) => void): this
  empty (): this
  find (selector: string): JQuery
  insertAfter (target: JQuery): this
  is (selector: string): boolean
  on (events: string, listener: () => void): this
  prop (name: string): any
  prop (name: string, value: unknown): this
  remove (): this
  text (text: string): this
  toggleClass (name: string, isOn: boolean): this
  trigger (event: string): this
  val (): any
  val (value: unknown): this
}

interface JQueryRequest {
  then (answered: (answer: any) => void, failed: (request: { status: number, statusText: string }) => void): void
  abort (): void
}

interface JQueryStatic {
  (what: string | HTMLElement): JQuery
  ajax (request: { url: string, method: string, contentType: string, data: string }): JQueryRequest
}

interface EditorNodeType {
  /** A text of the node's message catalogue. */
  _ (key: string, values?: object): string
  defaults: Record<string, { value: unknown }>
  credentials?: object
  label?: unknown
}

interface Window { sluice: object }

declare const $: JQueryStatic
declare const RED: {
  notify (text: string, type: 'success' | 'warning' | 'error'): void
  editor: { validateNode (node: object): boolean }
  history: { push (event: object): void }
  utils: { getNodeLabel (node: object, otherwise: string): string }
  workspaces: { active (): string }
  nodes: {
    add<Node extends object> (node: Node): Node
    dirty (): boolean
    dirty (isDirty: boolean): void
    eachConfig (visit: (node: Record<string, any>) => void): void
    filterNodes (filter: { type: string }): Record<string, any>[]
    id (): string
    registerType (type: string, definition: object): void
    getType (type: string): EditorNodeType
    node (id: string): Record<string, any> | null
  }
}
