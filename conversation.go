package relabel

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"
)

// ConversationSet is a file of conversations that were not collected, such as general data: a source of labels
// for mixes. It never changes.
type ConversationSet struct {
	ID            ID        `json:"id" doc:"Its id."`
	Name          string    `json:"name" doc:"Its name."`
	Digest        string    `json:"digest" doc:"SHA-256 of the file, in hex."`
	Conversations int       `json:"conversations" doc:"Conversations in it."`
	Labels        int       `json:"labels" doc:"Messages of the assistant that are trained on."`
	Bytes         int64     `json:"bytes" doc:"Text of the conversations, in bytes."`
	CreatedAt     time.Time `json:"created_at" doc:"When it was imported."`
}

// Conversation is one conversation of a set.
type Conversation struct {
	Number   int       // line in the file, from 1
	Tools    []Tool    // nil: none
	Messages []Message // calls are named by their turns, as in states; see CallID
	Labels   []int     // turns t, from 1, that are trained on: the t-th message of the assistant
}

// ConversationChunk is a part of a set's conversations, in the order of the file.
type ConversationChunk struct {
	Conversations int
	Content       []byte // compressed; see package conversations
}

// Trajectory returns the conversation as a trajectory of a set in which the teacher executed every turn.
// Messages after the last one of the assistant are omitted.
func (c Conversation) Trajectory(set ConversationSet) ExportTrajectory {
	id := ID(uuid.NewSHA1(uuid.UUID(set.ID), fmt.Appendf(nil, "%d", c.Number)))
	tr := ExportTrajectory{Trajectory: Trajectory{ID: id, State: Done, Kind: Collect}, Iteration: Iteration{Kind: Collect},
		Task: Task{InstanceID: fmt.Sprintf("%s/%d", set.Name, c.Number)}, Opening: []Message{}, Tools: c.Tools}
	trained := make(map[int]bool, len(c.Labels))
	for _, t := range c.Labels {
		trained[t] = true
	}
	for _, m := range c.Messages {
		switch last := len(tr.Turns) - 1; {
		case m.Role == RoleAssistant:
			tr.Turns = append(tr.Turns, turnOf(len(tr.Turns)+1, m, trained[len(tr.Turns)+1]))
		case last < 0:
			tr.Opening = append(tr.Opening, m)
		default:
			tr.Turns[last].Observations = append(tr.Turns[last].Observations, Observation{CallID: m.ToolCallID, Content: m.Content})
		}
	}
	return tr
}

// turnOf returns turn t. The label of one that is not trained on was not selected.
func turnOf(t int, m Message, trained bool) Turn {
	action := Action{Status: Received, Message: m, Parse: ParsedOK}
	label := action
	if !trained {
		label = Action{Status: NotSelected}
	}
	return Turn{T: t, Executor: Teacher, Action: action, Label: &label}
}

// ConversationStore stores conversation sets.
type ConversationStore interface {
	// CreateConversationSet stores a set with its chunks, which fill in its figures as they are read: all or
	// nothing. CodeConflict if the name exists, CodeInvalid if there is no conversation.
	CreateConversationSet(ctx context.Context, set *ConversationSet, chunks iter.Seq2[ConversationChunk, error]) error
	// FindConversationSet finds a set by its name or id.
	FindConversationSet(ctx context.Context, word string) (ConversationSet, error)
	ListConversationSets(ctx context.Context, p Page) (sets []ConversationSet, next string, err error)
	// DeleteConversationSet deletes a set. CodeConflict while an export that is built has it.
	DeleteConversationSet(ctx context.Context, id ID) error
}
