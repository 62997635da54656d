package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"relabel"
	"relabel/api"
)

// ExclusionsCommand is `relabel exclusions`.
type ExclusionsCommand struct {
	Add    exclusionsAdd    `cmd:"" help:"Add a list of instance ids and repositories whose tasks no training uses, in any task set."`
	List   exclusionsList   `cmd:"" help:"List exclusion lists."`
	Show   exclusionsShow   `cmd:"" help:"Show the entries of an exclusion list."`
	Delete exclusionsDelete `cmd:"" help:"Delete an exclusion list, which then reserves no task."`
}

// exclusionsAdd is `relabel exclusions add NAME FILE`.
type exclusionsAdd struct {
	ClientFlags
	Name string `arg:"" help:"Name of the list, which no benchmark has either."`
	File string `arg:"" type:"existingfile" help:"File with one instance id or repository (owner/name) per line; # begins a comment."`
}

// Run adds the list.
func (c *exclusionsAdd) Run(ctx context.Context) error {
	entries, err := readEntries(c.File)
	if err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		list, err := cl.CreateExclusion(ctx, api.NewExclusionList{Name: c.Name, Entries: entries})
		if err != nil {
			return err
		}
		say("%s  %s: %s", list.ID, list.Name, counted(list.Entries, "entry"))
		say("reserved: %s, counted in each task set; %d finished trajectories are of reserved tasks; `relabel exclusions delete %s` undoes that",
			counted(list.Reserves.Trainable, "trainable task"), list.Reserves.Trajectories, list.Name)
		return nil
	})
}

// readEntries reads the entries of an exclusion list: the words of a file, one per line.
func readEntries(path string) (entries []string, err error) {
	err = eachLine(path, func(number int, entry string) error {
		if !relabel.IsExclusionEntry(entry) {
			return relabel.Errorf(relabel.CodeInvalid, "%s: line %d: is neither an instance id nor a repository (owner/name)", path, number)
		}
		entries = append(entries, entry)
		return nil
	})
	if err == nil && len(entries) == 0 {
		err = relabel.Errorf(relabel.CodeInvalid, "%s has no instance id and no repository", path)
	}
	return entries, err
}

// eachLine calls each for the lines of a file without comments, which begin with #, empty lines and repetitions.
func eachLine(path string, each func(number int, text string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	seen := map[string]bool{}
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		text = strings.TrimSpace(text)
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		if err := each(number, text); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// exclusionsList is `relabel exclusions list`.
type exclusionsList struct{ ClientFlags }

// Run prints the lists.
func (c *exclusionsList) Run(ctx context.Context) error {
	return list(ctx, c.ClientFlags, (*Session).Exclusions, []string{"ID", "NAME", "ENTRIES", "ADDED"}, func(e relabel.Exclusion) []any {
		return []any{e.ID, e.Name, e.Entries, e.CreatedAt}
	})
}

// exclusionsShow is `relabel exclusions show LIST`.
type exclusionsShow struct {
	ClientFlags
	List string `arg:"" help:"Name or id of the list."`
}

// Run prints what the list reserves, and its entries.
func (c *exclusionsShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		list, err := cl.Exclusion(ctx, c.List)
		if list, err = named(list, err, "exclusion list", c.List, "exclusions list"); err != nil {
			return err
		}
		say("%s  %s: %s; reserved: %s, counted in each task set", list.ID, list.Name, counted(list.Entries, "entry"), counted(list.Reserves.Trainable, "trainable task"))
		return printTable(list.List, []string{"ENTRY"}, func(entry string) []any { return []any{entry} })
	})
}

// exclusionsDelete is `relabel exclusions delete LIST`.
type exclusionsDelete struct {
	ClientFlags
	List string `arg:"" help:"Name or id of the list."`
}

// Run deletes the list.
func (c *exclusionsDelete) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		list, err := cl.DeleteExclusion(ctx, c.List)
		if list, err = named(list, err, "exclusion list", c.List, "exclusions list"); err != nil {
			return err
		}
		say("deleted: %s; it reserves no task any more", list.Name)
		return nil
	})
}
