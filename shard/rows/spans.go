package rows

import (
	"fmt"

	"relabel"
	"relabel/shard/parquet"
)

// spans reads the column spans, a list of structs.
type spans struct {
	trajectory, turn, kind, start, length, weight, iteration, beta, ids *parquet.Cursor

	group, reward *parquet.Cursor // nil unless labels are the student's own actions
}

// newSpans returns nil if the file has no spans or lacks some of their fields.
func newSpans(r *parquet.Reader) *spans {
	field := func(name string) *parquet.Cursor { return r.Cursor("spans", name) }
	s := &spans{trajectory: field("trajectory"), turn: field("turn"), kind: field("kind"), start: field("start"), length: field("length"),
		weight: field("weight"), iteration: field("iteration"), beta: field("beta"), ids: field("ids")}
	for _, c := range s.cursors() {
		if c == nil {
			return nil
		}
	}
	if group, reward := field("group_id"), field("reward"); group != nil && reward != nil {
		s.group, s.reward = group, reward
	}
	return s
}

func (s *spans) cursors() []*parquet.Cursor {
	all := []*parquet.Cursor{s.trajectory, s.turn, s.kind, s.start, s.length, s.weight, s.iteration, s.beta, s.ids}
	if s.group != nil {
		all = append(all, s.group, s.reward)
	}
	return all
}

// put puts the spans of the row that the cursors are at.
func (s *spans) put(row *relabel.ExportRow) error {
	n := len(s.trajectory.Texts)
	for _, c := range s.cursors() {
		if c.Null != nil && c != s.weight && c != s.beta && c != s.reward {
			return fmt.Errorf("column spans: %w", errNull)
		}
	}
	for _, got := range []int{len(s.kind.Texts), len(s.ids.Texts), len(s.turn.Ints), len(s.start.Ints), len(s.length.Ints), len(s.iteration.Ints), len(s.weight.Floats), len(s.beta.Floats)} {
		if got != n {
			return fmt.Errorf("column spans: %w", errType)
		}
	}
	if s.group != nil && (len(s.group.Texts) != n || len(s.reward.Floats) != n) {
		return fmt.Errorf("column spans: %w", errType)
	}
	row.Spans = row.Spans[:0]
	for i := range n {
		row.Spans = append(row.Spans, relabel.ExportSpan{
			Trajectory: s.trajectory.Texts[i], Turn: int(s.turn.Ints[i]), Kind: s.kind.Texts[i], Start: int(s.start.Ints[i]), Length: int(s.length.Ints[i]),
			Weight: number(s.weight, i), Iteration: int(s.iteration.Ints[i]), Beta: number(s.beta, i), IDs: s.ids.Texts[i],
		})
		if s.group != nil {
			last := &row.Spans[i]
			last.Group, last.Reward = s.group.Texts[i], number(s.reward, i)
		}
	}
	return nil
}

// number returns value i of a nullable column.
func number(c *parquet.Cursor, i int) *float32 {
	if c.Null != nil && c.Null[i] {
		return nil
	}
	v := c.Floats[i]
	return &v
}
