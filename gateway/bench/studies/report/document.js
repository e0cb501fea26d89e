import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockMarkup } from './block.js'
import { html, Markup } from './markup.js'

/** @typedef {import('../study.js').Section} Section */

const STYLE = new Markup(readFileSync(join(import.meta.dirname, 'style.css'), 'utf8'))
/** Nothing is loaded and nothing runs, whatever a text in the report may contain. */
const POLICY = 'default-src \'none\'; style-src \'unsafe-inline\'; img-src data:; base-uri \'none\'; form-action \'none\''

/**
 * One page that needs no other file, no network and no script.
 * @param {{title: string, head: Markup, sections: Section[]}} parts
 */
export function document ({ title, head, sections }) {
  return html`${new Markup('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Sluice">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
${STYLE}</style>
</head>
<body>
<main>
<header>
${head}
${contents(sections)}</header>
${sections.map((section, i) => html`<section id="${anchor(i)}">
<h2>${section.title}</h2>
${section.text?.map(text => html`<p>${text}</p>
`)}${section.blocks.map(blockMarkup)}</section>
`)}</main>
</body>
</html>
`.toString()
}

/** @param {Section[]} sections */
function contents (sections) {
  return sections.length > 1 && html`<nav aria-label="Contents">${sections.map(({ title }, i) =>
    html`<a href="#${anchor(i)}">${title}</a>`)}</nav>
`
}

/** @param {number} i */
function anchor (i) {
  return `section-${i + 1}`
}
