package api

// Page is a page of a list.
type Page[T any] struct {
	Items []T    `json:"items" nullable:"false" doc:"The items, newest first unless the list says otherwise."`
	Next  string `json:"next" doc:"Pass it as after to get the next page; empty at the end."`
}
