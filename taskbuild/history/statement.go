package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"relabel"
)

// Issues are the texts of issues and pull requests.
type Issues struct {
	byCommit map[string][]commitText // by the first 7 digits of a hash, lower case
	byNumber map[int]string
}

// commitText is the text of a commit by its hash or the first digits of it.
type commitText struct{ hash, text string }

// maxIssue is the longest line of a file of issues, in bytes.
const maxIssue = 4 << 20

// ReadIssues reads JSONL. Each line has a text, and a commit (a hash or its first digits), or the number of
// an issue or a pull request: {"number": 123, "text": "…"}. Errors name the line.
func ReadIssues(r io.Reader) (*Issues, error) {
	issues := &Issues{map[string][]commitText{}, map[int]string{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxIssue)
	number := 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := issues.add(lines.Bytes()); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%v", err).On(fmt.Sprintf("--issues: line %d", number))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%v", err).On(fmt.Sprintf("--issues: line %d", number+1))
	}
	return issues, nil
}

// hash matches a commit's hash or its first digits.
var hash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// add reads a line.
func (i *Issues) add(line []byte) error {
	var l struct {
		Commit string `json:"commit"`
		Number int    `json:"number"`
		Pull   int    `json:"pull"`
		Title  string `json:"title"`
		Text   string `json:"text"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return fmt.Errorf("is not a JSON object with commit, number or pull, and text: %w", err)
	}
	text := strings.TrimSpace(strings.TrimSpace(l.Title) + "\n\n" + strings.TrimSpace(l.Text))
	commit := strings.ToLower(l.Commit)
	switch {
	case text == "":
		return errors.New("text: is missing or empty")
	case commit != "" && !hash.MatchString(commit):
		return fmt.Errorf("commit: %q is not a hash", l.Commit)
	case commit == "" && l.Number <= 0 && l.Pull <= 0:
		return errors.New("names no commit, number or pull")
	}
	if commit != "" {
		i.byCommit[commit[:7]] = append(i.byCommit[commit[:7]], commitText{commit, text})
	}
	for _, n := range []int{l.Number, l.Pull} {
		if n > 0 {
			i.byNumber[n] = text
		}
	}
	return nil
}

// reference matches a reference to an issue in a commit message.
var reference = regexp.MustCompile(`(?i)(?:#|\bgh-|/issues/|/pull/)(\d{1,7})\b`)

// find returns the text of the issue of a commit: that of its hash, or the first that its message refers to.
func (i *Issues) find(c commit) string {
	if i == nil {
		return ""
	}
	for _, known := range i.byCommit[c.hash[:7]] {
		if strings.HasPrefix(c.hash, known.hash) {
			return known.text
		}
	}
	for _, match := range reference.FindAllStringSubmatch(c.message, -1) {
		n, _ := strconv.Atoi(match[1])
		if text := i.byNumber[n]; text != "" {
			return text
		}
	}
	return ""
}

// trailer matches lines at the end of messages that are about people, not the problem.
var trailer = regexp.MustCompile(`(?im)^(signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|cc|change-id|reviewed-on|git-svn-id):.*$`)

// minStatement is how many words a commit message has at least to be a problem statement.
const minStatement = 3

// statement is the problem statement of a commit: the text of its issue, otherwise its message. "" if the
// message says too little.
func (s *Source) statement(c commit) string {
	if text := s.config.Issues.find(c); text != "" {
		return text
	}
	text := strings.TrimSpace(trailer.ReplaceAllString(c.message, ""))
	if len(strings.Fields(text)) < minStatement {
		return ""
	}
	return text
}
