#pragma once

#include "frontend/http/route.h"
#include "wire/http_request.h"

// A check with an Idempotency-Key (or X-Idempotency-Key): sent again with the same body, it gets
// the first answer that allowed, and spends nothing; a denial is judged anew. Of two copies that
// come together, here or at two nodes that share a store, one is asked, and the other waits for its
// answer. With another body the key is
// refused, 422. A key belongs to the caller's address and Authorization.
namespace sluice::frontend::http {

// Whether the request has such a key.
[[nodiscard]] inline bool IsKeyed(const wire::HttpRequest& request) {
  return request.fields.Has(wire::RareField::kIdempotencyKey);
}

// Answers the exchange, or sets it up to ask or to wait; its check has been read. The listener has
// a memory of answers.
void RunKeyedCheck(const RoutedRequest& routed);

}  // namespace sluice::frontend::http
