// Package conversations reads JSONL files of chat messages, such as general data for instruction tuning, and
// stores them in chunks.
package conversations
