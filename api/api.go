// Package api holds each request and each answer of the REST interface once. The tags of a
// field say what it means (doc), what it is where it is absent (default), and its bounds
// (enum, minimum, maximum, maxLength, pattern …). The OpenAPI description, the flags of the
// commands and the forms of the pages are made from them; Fields, Defaults and Validate read
// them.
package api
