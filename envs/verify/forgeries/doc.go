// Package forgeries holds submissions that try to pass without solving their task, and the
// tests that show that the verifier does not let them: each is made by an agent's tool calls in
// a real sandbox, taken as a patch, and graded in a fresh container. README.md says how to add
// one.
package forgeries
