package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"relabel"
)

const (
	silenceLimit   = 45 * time.Second // three of the server's comments are missing: the line is dead
	comeBackPause  = 500 * time.Millisecond
	serverPatience = 10 * time.Minute // for a server that restarts
	longestEvent   = 4 << 20
)

// serverEvent is an event of the server's stream.
type serverEvent struct {
	name string
	data []byte
}

// streams is for answers that do not end.
var streams = &http.Client{}

// errStreamEnded says that a stream broke off before its end.
var errStreamEnded = errors.New("the server's stream broke off")

// followIteration shows an iteration whenever its counts have changed, until it is over.
// A lost line, or a server that restarts, it comes back to with what it heard last.
func (c *client) followIteration(ctx context.Context, id relabel.ID, show func(shownIteration)) (it shownIteration, err error) {
	last, lost, told := "", time.Time{}, false
	for {
		err := c.stream(ctx, "/v1/iterations/"+id.String()+"/events", &last, func(e serverEvent) (bool, error) {
			lost, told = time.Time{}, false
			if e.name != "progress" && e.name != "end" {
				return false, nil
			}
			it = shownIteration{} // or its maps would keep what is no longer there
			if err := json.Unmarshal(e.data, &it); err != nil {
				return false, err
			}
			show(it)
			return e.name == "end", nil
		})
		switch code := relabel.CodeOf(err); {
		case err == nil:
			return it, nil
		case ctx.Err() != nil:
			return it, ctx.Err()
		case code != relabel.CodeInternal && code != relabel.CodeUnavailable:
			return it, err
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		if !told && time.Since(lost) > 2*time.Second {
			told = true
			fmt.Fprintln(os.Stderr, "The server does not answer; waiting for it.")
		}
		if time.Since(lost) > serverPatience {
			return it, relabel.Errorf(relabel.CodeUnavailable, "the server does not come back; the iteration goes on where its workers are").Because(err)
		}
		select {
		case <-ctx.Done():
			return it, ctx.Err()
		case <-time.After(comeBackPause):
		}
		if c.find != nil {
			c.base = c.find(c.base)
		}
	}
}

// stream hands the events of a stream to use until that says it is enough. last is the
// last id that came, from which the stream goes on.
func (c *client) stream(ctx context.Context, path string, last *string, use func(serverEvent) (enough bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	if *last != "" {
		req.Header.Set("Last-Event-ID", *last)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	silence := time.AfterFunc(silenceLimit, cancel)
	defer silence.Stop()
	res, err := streams.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return problem(res)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestEvent)
	var e serverEvent
	for lines.Scan() {
		silence.Reset(silenceLimit)
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			*last = value
		case "data":
			e.data = []byte(value)
		case "":
			if e.name == "" {
				continue
			}
			if enough, err := use(e); enough || err != nil {
				return err
			}
			e = serverEvent{}
		}
	}
	return errors.Join(errStreamEnded, lines.Err())
}
