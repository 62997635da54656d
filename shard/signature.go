package shard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"relabel"
	"relabel/chat"
)

// signature identifies a label and its state among all labels of a mix.
type signature struct {
	Trajectory uint32   // index in the part
	Turn       uint32   // t, from 1
	Exact      [16]byte // of tools, state and label
	Near       [16]byte // of the task and the same texts without what differs from run to run: numbers, hexadecimal ids, white space
	Task       [8]byte  // of the instance id
}

// sign writes the signatures of a trajectory's exported labels to w.
func (b *selector) sign(w io.Writer, at int, tr relabel.ExportTrajectory) error {
	l, err := b.choose(tr, nil)
	if err != nil || len(l.keep) == 0 {
		return err
	}
	task := sha256.Sum256([]byte(tr.Task.InstanceID))
	var exact, near chain
	add := func(text []byte) {
		exact.add(text)
		near.add(withoutVolatile(text))
	}
	near.add([]byte(tr.Task.InstanceID))
	add(chat.AppendTools(nil, b.tools(tr)))
	add(chat.AppendMessages(nil, reasoned(b.form, b.opening(tr))))
	for _, turn := range tr.Turns {
		if _, kept := l.keep[turn.T]; kept {
			text := chat.AppendMessage(nil, reasoned(b.form, []relabel.Message{turn.Label.Message.Canonical(turn.T)})[0])
			s := signature{Trajectory: uint32(at), Turn: uint32(turn.T), Exact: exact.with(text), Near: near.with(withoutVolatile(text)), Task: [8]byte(task[:8])}
			if err := binary.Write(w, binary.BigEndian, s); err != nil {
				return err
			}
		}
		for _, m := range reasoned(b.form, relabel.AppendTurn(nil, turn)) {
			add(chat.AppendMessage(nil, m))
		}
	}
	return nil
}

// chain is the hash of a growing list of texts.
type chain [sha256.Size]byte

func (c *chain) add(text []byte) { *c = sha256.Sum256(append(c[:], text...)) }

// with returns the hash of the list and one more text.
func (c chain) with(text []byte) [16]byte {
	c.add(text)
	return [16]byte(c[:16])
}

// withoutVolatile replaces each number and each hexadecimal id by one character, and white space, also that
// which JSON escapes, by one space. Texts that differ in durations, addresses or ids become equal.
func withoutVolatile(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := blankLength(text[i:])
		switch word := wordLength(text[i:]); {
		case n > 0:
			i += n
			if len(out) == 0 || out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case word > 0:
			out = append(out, shortWord(text[i:i+word])...)
			i += word
		default:
			out = append(out, text[i])
			i++
		}
	}
	return out
}

// blankLength returns the length of the white space that text begins with: 0, 1, or 2 for an escape.
func blankLength(text []byte) int {
	switch {
	case text[0] == ' ' || text[0] == '\n' || text[0] == '\t':
		return 1
	case len(text) > 1 && text[0] == '\\' && (text[1] == 'n' || text[1] == 't' || text[1] == 'r'):
		return 2
	}
	return 0
}

// wordLength returns the length of the letters and digits that text begins with.
func wordLength(text []byte) int {
	n := 0
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// shortWord replaces a hexadecimal id by x, and in other words each number by 0. An id begins with 0x, or has at
// least 7 digits and a decimal one among them.
func shortWord(word []byte) []byte {
	if !bytes.ContainsAny(word, "0123456789") {
		return word
	}
	id, marked := bytes.CutPrefix(word, []byte("0x"))
	isHex := func(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f' }
	if (marked || len(id) >= 7) && !bytes.ContainsFunc(id, func(r rune) bool { return !isHex(r) }) {
		return []byte("x")
	}
	var out []byte
	for i, c := range word {
		switch digit := c >= '0' && c <= '9'; {
		case !digit:
			out = append(out, c)
		case i == 0 || word[i-1] < '0' || word[i-1] > '9':
			out = append(out, '0')
		}
	}
	return out
}

// comparison compares the labels of all parts of a mix.
type comparison struct {
	mix    relabel.Mix
	seed   int64
	counts []relabel.ComparedLabels
	all    []comparedLabel
	exact  map[[16]byte]bool
	near   map[[16]byte]bool
}

// comparedLabel is a label in the comparison; its reason is "" if it is exported.
type comparedLabel struct {
	part, trajectory, turn uint32
	task                   [8]byte
	key                    uint64 // place in the drawn order of its task
	reason                 Reason
}

func newComparison(m relabel.Mix, seed int64, sources int) *comparison {
	return &comparison{mix: m, seed: seed, counts: make([]relabel.ComparedLabels, sources), exact: map[[16]byte]bool{}, near: map[[16]byte]bool{}}
}

// add adds the signed labels of the next part.
func (c *comparison) add(part, source int, signed []byte) error {
	of := &c.counts[source]
	for r := bytes.NewReader(signed); ; {
		var s signature
		err := binary.Read(r, binary.BigEndian, &s)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l := comparedLabel{part: uint32(part), trajectory: s.Trajectory, turn: s.Turn, task: s.Task, key: drawnKey(c.seed, s.Exact)}
		of.Labels++
		switch {
		case c.exact[s.Exact]:
			of.Duplicates++
			if c.mix.Unique {
				l.reason = Duplicate
			}
		case c.near[s.Near]:
			of.NearDuplicates++
		}
		c.exact[s.Exact], c.near[s.Near] = true, true
		c.all = append(c.all, l)
	}
}

// drawnKey draws the place of a label in its task.
func drawnKey(seed int64, exact [16]byte) uint64 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(exact[:], uint64(seed)))
	return binary.BigEndian.Uint64(sum[:])
}

// decide returns the excluded labels by part.
func (c *comparison) decide() map[int][]relabel.DroppedLabel {
	if c.mix.LabelsPerTask > 0 {
		c.capTasks()
	}
	dropped := map[int][]relabel.DroppedLabel{}
	for _, l := range c.all {
		if l.reason != "" {
			dropped[int(l.part)] = append(dropped[int(l.part)], relabel.DroppedLabel{Trajectory: int(l.trajectory), Turn: int(l.turn), Reason: string(l.reason)})
		}
	}
	return dropped
}

// capTasks excludes the last labels of each task in the drawn order. Equal labels keep the order of parts.
func (c *comparison) capTasks() {
	byTask := map[[8]byte][]int{}
	for i, l := range c.all {
		if l.reason == "" {
			byTask[l.task] = append(byTask[l.task], i)
		}
	}
	for _, labels := range byTask {
		slices.SortStableFunc(labels, func(a, b int) int { return cmp.Compare(c.all[a].key, c.all[b].key) })
		for _, i := range labels[min(len(labels), c.mix.LabelsPerTask):] {
			c.all[i].reason = OverLabelsPerTask
		}
	}
}
