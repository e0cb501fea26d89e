import GithubSlugger from 'github-slugger'
import { Marked } from 'marked'
import { linkFrom } from './files.js'

/** @typedef {{depth: number, id: string, text: string}} Heading  its text is Markdown */

/**
 * The ids of headings are GitHub's, so that a link to one holds there and here.
 * @param {string} text
 * @param {string} path  in the repository, against which its links are
 * @returns {{html: string, headings: Heading[]}}
 */
export function toHtml (text, path) {
  const slugger = new GithubSlugger()
  /** @type {Heading[]} */
  const headings = []
  const marked = new Marked({
    walkTokens: token => {
      if (token.type === 'link' || token.type === 'image') token.href = linkFrom(path, token.href)
    },
    tokenizer: {
      // What looks like an address of mail is one of ssh.
      url: source => /^[^\s/]+@/.test(source) ? undefined : false
    },
    renderer: {
      heading ({ depth, text: heading, tokens }) {
        const id = slugger.slug(heading)
        headings.push({ depth, id, text: heading })
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ${anchor}</h${depth}>\n`
      }
    }
  })
  const html = marked.parse(text, { async: false })
  return { html, headings }
}

/** @param {string} text  of one line @returns {string} without its marks */
export function plain (text) {
  return text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`|\*\*|\B\*|\*\B/g, '')
}
