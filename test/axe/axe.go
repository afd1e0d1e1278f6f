// Package axe has axe-core, which finds what a reader with a disability would stumble over on a page.
package axe

import _ "embed"

// source is axe-core; its licence lies beside it.
//
//go:embed axe.min.js
var source string

// Load is a script that brings axe-core into a page that has it not.
var Load = `if (typeof axe !== "object") { ` + source + ` }; null`

// Run is an expression that looks at the page as WCAG 2.2 AA asks, but for what it frames, and promises a list of
// complaints.
const Run = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], iframes: false}).then(r => {` + complaints + `	if (r.passes.length < 10) all.push("only " + r.passes.length + " rules of axe looked at anything");
	return all;
})`

// Colours is Run for the colours alone, which are all that another theme changes.
const Colours = `axe.run(document, {runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}, iframes: false}).then(r => {` + complaints + `	if (r.passes.length < 1) all.push("axe looked at no colour");
	return all;
})`

const complaints = `
	const all = r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 120) + " " + n.failureSummary));
`
