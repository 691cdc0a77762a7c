// Package socket is the door for WebSockets, see [web.Door]. A program mounts it with
//
//	web.Config{Doors: []web.Door{socket.Door()}}
//
// and a client connects to GET /v1/ws. A browser cannot set the Authorization header of a
// WebSocket: it offers the subprotocols "routegen" and "bearer.TOKEN" instead, and the server
// chooses the first.
//
// # Messages
//
// A client sends JSON messages {type, payload, id}; a reply has the id of its message, and a
// refused message gets an error with a [web.Problem] and leaves the connection open. Replies come
// in the order of their messages, rows of the followed thread between them:
//
//	from the client                                        to the client
//	thread_context {thread_id, user_id, session_id, after} thread_context_ack {success,
//	                                                         thread_id, error}; rows follow
//	interrupt {thread_id, reason, mode}                    interrupt_ack {success, thread_id,
//	                                                         message}: requested,
//	                                                         already_pending or not_running
//	resume {thread_id, user_input | value, interrupt_id}   resume_ack {success, thread_id,
//	                                                         message}
//	                                                       row, whose id is that of its [web.Row]
//
// user_input is a JSON string, or an object with message and no more. On a paused thread it says
// how the work shall change; empty, that it shall not.
//
// # Slow readers
//
// A connection whose reader does not take a message in Config.Timeout is closed with 1013 (try
// again later) if it takes the message within as much time again, and cut otherwise. The client
// comes back with the id of the last row and misses nothing.
package socket

import (
	"net/http"

	"github.com/routegen/routegen/runtime/web"
)

// Door returns the door.
func Door() web.Door {
	return web.Door{Routes: []web.Endpoint{{
		Method: http.MethodGet, Path: "/v1/ws", ID: "socket", Summary: "The WebSocket",
		Needs: web.AnyToken, Status: http.StatusSwitchingProtocols, Stream: accept,
	}}}
}
