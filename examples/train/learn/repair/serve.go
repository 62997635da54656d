package repair

import (
	"encoding/json"
	"io"
	"net/http"

	"relabel"
	"relabel/chat"
)

// TeacherModel is the name of the teacher's model.
const TeacherModel = "repair-teacher"

const maxRequest = 8 << 20 // bytes

// NewTeacher returns a server of the chat-completions protocol that answers as Teach does. The base URL
// of its policy ends with /v1.
func NewTeacher() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": TeacherModel, "object": "model", "created": 0, "owned_by": "relabel"}}})
	})
	mux.HandleFunc("POST /v1/chat/completions", complete)
	return mux
}

// complete answers one request.
func complete(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Messages []json.RawMessage }
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil || json.Unmarshal(body, &asked) != nil {
		refuse(w, "the body is not a chat-completions request")
		return
	}
	var state []relabel.Message
	for _, raw := range asked.Messages {
		m, err := chat.DecodeMessage(raw)
		if err != nil {
			refuse(w, "a message cannot be read")
			return
		}
		state = append(state, m)
	}
	call, ok := Teach(state)
	if !ok {
		refuse(w, "the first user message is not an issue of the repair tasks")
		return
	}
	call.ID = "call_0"
	said := relabel.Message{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{call}}
	choice := map[string]any{"index": 0, "message": json.RawMessage(chat.AppendMessage(nil, said)), "finish_reason": "tool_calls"}
	reply(w, http.StatusOK, map[string]any{"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": TeacherModel, "choices": []any{choice}})
}

func refuse(w http.ResponseWriter, message string) {
	reply(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}
