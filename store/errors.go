package store

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
)

// SQLSTATEs that a caller can act on.
const (
	notNullViolation    = "23502"
	foreignKeyViolation = "23503"
	uniqueViolation     = "23505"
	checkViolation      = "23514"
	stringTruncation    = "22001"
	numberOutOfRange    = "22003"
	invalidText         = "22P02"
	badCharacter        = "22021" // NUL or broken UTF-8 where only text fits
	untranslatable      = "22P05"
	tooLarge            = "54000" // more than an index or a row can hold
	serialization       = "40001"
	deadlock            = "40P01"
	tooManyConnections  = "53300"
	lockTimeout         = "55P03"
	queryCanceled       = "57014"
)

// meanings are the meanings of broken constraints, safe to show, with the invalid field. They
// omit constraints that only a bug can break.
var meanings = map[string]*relabel.Error{
	"tasksets_name_check":          relabel.Errorf(relabel.CodeInvalid, "a task set needs a name").On("name"),
	"tasks_instance":               relabel.Errorf(relabel.CodeInvalid, "an instance appears twice in the task set").On("instance_id"),
	"policies_version":             relabel.Errorf(relabel.CodeConflict, "another request changed the policy at the same time; retry"),
	"policies_name_check":          relabel.Errorf(relabel.CodeInvalid, "a policy's name must not be empty or contain @").On("name"),
	"runs_name_check":              relabel.Errorf(relabel.CodeInvalid, "a run needs a name").On("name"),
	"runs_taskset_id_fkey":         relabel.Errorf(relabel.CodeInvalid, "there is no such task set").On("taskset_id"),
	"runs_teacher":                 relabel.Errorf(relabel.CodeInvalid, "is missing; only a grpo run can do without a teacher").On("teacher_id"),
	"runs_teacher_id_fkey":         relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("teacher_id"),
	"runs_pkey":                    relabel.Errorf(relabel.CodeConflict, "the run exists already"),
	"iterations_number":            relabel.Errorf(relabel.CodeConflict, "the run has an iteration of this number already").On("number"),
	"iterations_pkey":              relabel.Errorf(relabel.CodeConflict, "the iteration exists already"),
	"iterations_run_id_fkey":       relabel.Errorf(relabel.CodeNotFound, "there is no such run"),
	"iterations_student_id_fkey":   relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("student_id"),
	"iterations_beta":              relabel.Errorf(relabel.CodeInvalid, "β must be from 0 to 1").On("beta"),
	"trajectories_drawn":           relabel.Errorf(relabel.CodeInvalid, "a trajectory was drawn twice"),
	"trajectories_task_id_fkey":    relabel.Errorf(relabel.CodeInvalid, "there is no such task").On("task_id"),
	"trajectories_step":            relabel.Errorf(relabel.CodeConflict, "the trajectory's state does not allow this"),
	"iterations_step":              relabel.Errorf(relabel.CodeConflict, "the iteration's state does not allow this"),
	"conversation_sets_name":       relabel.Errorf(relabel.CodeConflict, "there is a conversation set of this name already").On("name"),
	"exports_step":                 relabel.Errorf(relabel.CodeConflict, "the export's state does not allow this"),
	"exports_run_id_fkey":          relabel.Errorf(relabel.CodeInvalid, "there is no such run").On("run_id"),
	"relabelings_policy":           relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("policy"),
	"relabelings_priority":         relabel.Errorf(relabel.CodeInvalid, "a priority must be from -1000 to 1000").On("priority"),
	"scorings_policy":              relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("policy"),
	"scorings_priority":            relabel.Errorf(relabel.CodeInvalid, "a priority must be from -1000 to 1000").On("priority"),
	"scorings_top_k":               relabel.Errorf(relabel.CodeInvalid, "top_k must be from 0 to %d", relabel.MaxTopK).On("top_k"),
	"judgings_policy":              relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("policy"),
	"judgings_priority":            relabel.Errorf(relabel.CodeInvalid, "a priority must be from -1000 to 1000").On("priority"),
	"exports_label_policy":         relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("label_policy"),
	"runs_labels":                  relabel.Errorf(relabel.CodeInvalid, "labels must be inline, deferred or batch").On("labels"),
	"calls_trajectory":             relabel.Errorf(relabel.CodeNotFound, "there is no such trajectory"),
	"calls_policy":                 relabel.Errorf(relabel.CodeNotFound, "there is no such policy"),
	"actions_policy":               relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("policy_id"),
	"turns_labelled":               relabel.Errorf(relabel.CodeInvalid, "a turn of a collect iteration needs a label; turns of other iterations must not have one").On("label"),
	"trajectories_labels":          relabel.Errorf(relabel.CodeInvalid, "a turn of a collect iteration needs a label; turns of other iterations must not have one").On("label"),
	"turns_student_apart":          relabel.Errorf(relabel.CodeInvalid, "a student's action cannot be its own label").On("label"),
	"actions_received":             relabel.Errorf(relabel.CodeInvalid, "a received action needs a message; any other must not have one").On("raw"),
	"reviews_trajectory":           relabel.Errorf(relabel.CodeNotFound, "there is no such trajectory"),
	"reviews_say":                  relabel.Errorf(relabel.CodeInvalid, "a review needs a flag, a note, or both").On("flag"),
	"policies_trained_from":        relabel.Errorf(relabel.CodeInvalid, "there is no such policy").On("trained_from"),
	"policies_untrained":           relabel.Errorf(relabel.CodeInvalid, "excludes trained_from and trained_on").On("untrained"),
	"policy_training_export":       relabel.Errorf(relabel.CodeInvalid, "an export was deleted meanwhile").On("trained_on"),
	"policy_training_once":         relabel.Errorf(relabel.CodeInvalid, "has an export twice").On("trained_on"),
	"policies_tokenizer_hash_fkey": relabel.Errorf(relabel.CodeInvalid, "the tokenizer was deleted meanwhile").On("tokenizer"),
	"exports_tokenizer_hash_fkey":  relabel.Errorf(relabel.CodeInvalid, "the tokenizer was deleted meanwhile").On("tokenizer"),
	"tokenizers_version":           relabel.Errorf(relabel.CodeConflict, "another request changed the tokenizer at the same time; retry"),
	"tokens_name_check":            relabel.Errorf(relabel.CodeInvalid, "a token needs a name").On("name"),
}

// classify adds a code to an error of Postgres or its driver. Only this file knows SQLSTATEs.
// It keeps a *relabel.Error and the error of a context.
func classify(err error) error {
	var known *relabel.Error
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return relabel.Errorf(relabel.CodeNotFound, "the resource does not exist").Because(err)
	case errors.As(err, &pg):
		return classifyServer(pg, err)
	case broken(err):
		return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer").Because(err)
	}
	return relabel.Errorf(relabel.CodeInternal, "the database call failed").Because(err)
}

// keyBroken reports whether the server refused a row that exists or whose reference is missing.
func keyBroken(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == uniqueViolation || pg.Code == foreignKeyViolation)
}

func classifyServer(pg *pgconn.PgError, err error) error {
	if e, ok := meanings[pg.ConstraintName]; ok {
		return e.Because(err)
	}
	switch pg.Code {
	case uniqueViolation:
		return relabel.Errorf(relabel.CodeConflict, "it exists already").Because(err)
	case foreignKeyViolation:
		return relabel.Errorf(relabel.CodeInvalid, "it refers to something that does not exist").Because(err)
	case notNullViolation:
		return relabel.Errorf(relabel.CodeInvalid, "a value is missing").On(pg.ColumnName).Because(err)
	case checkViolation, numberOutOfRange, stringTruncation, invalidText:
		return relabel.Errorf(relabel.CodeInvalid, "a value is out of range").Because(err)
	case tooLarge:
		return relabel.Errorf(relabel.CodeInvalid, "a name or another text is too long").Because(err)
	case badCharacter, untranslatable:
		return relabel.Errorf(relabel.CodeInvalid, "the text contains NUL or invalid UTF-8, which the database cannot store").Because(err)
	case "3D000", "28000", "28P01", "42501":
		return relabel.Errorf(relabel.CodeUnavailable, "the database refuses this user or has no such database").Because(err)
	}
	switch class := pg.Code[:2]; {
	case class == "53", class == "58": // out of disk, memory or connections; an I/O error
		return relabel.Errorf(relabel.CodeUnavailable, "the database is out of disk, memory or connections").Because(err)
	case pg.Code == queryCanceled, pg.Code == lockTimeout: // limits that the database's owner set
		return relabel.Errorf(relabel.CodeUnavailable, "the database took too long").Because(err)
	case passing(err):
		return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer").Because(err)
	}
	return relabel.Errorf(relabel.CodeInternal, "the database call failed").Because(err)
}

// taken returns the name in use and a remedy if err breaks the constraint of names. The error
// has no cause, because it is complete.
func taken(err error, constraint, what, name, todo string) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == constraint {
		return relabel.Errorf(relabel.CodeConflict, "another %s is named %q already; %s", what, name, todo).On("name")
	}
	return err
}

// passing reports whether the same call may succeed a moment later.
func passing(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == serialization || pg.Code == deadlock || pg.Code == tooManyConnections || shutDown(pg)
	}
	return broken(err)
}

// shutDown reports whether the server closed or refused the connection by itself: it restarts,
// or the session was idle for too long.
func shutDown(pg *pgconn.PgError) bool {
	switch pg.Code {
	case "57P01", "57P02", "57P03", "57P05", "25P03":
		return true
	}
	return strings.HasPrefix(pg.Code, "08")
}

// broken reports whether the connection was lost or could not be opened.
func broken(err error) bool {
	var dial *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &dial) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "conn closed")
}

// notFound names the missing resource; it classifies other errors.
func notFound(what string, id any, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return relabel.Errorf(relabel.CodeNotFound, "there is no %s %v", what, id)
	}
	return classify(err)
}
