/** What holds for every operation: the first thing that a reader of the document sees. */
export const DESCRIPTION = `Control plane for inference deployments: revisions, routing, optimization policy, plans, sandboxes and managed model APIs.

- **Sign in**: \`Authorization: Bearer <token>\` on every operation. The first token stands in \`.slipway/bootstrap-token\` of a local stack. In the reading view press *Authorize* and paste it; the browser keeps it until you log out there.
- **Scopes** nest: admin includes operator, operator includes viewer. \`x-required-scope\` of an operation is the least it needs. What another tenant owns answers 404.
- **Long work** answers 202 with an operation, which goes on without the client. Follow it at \`GET /api/v1/operations/{id}\`, or its events.
- **Retries**: send an \`Idempotency-Key\` where it is accepted. The same key with the same request adopts the first one; with another request it is 422 \`idempotency_key_reused\`.
- **Rehearsal**: \`?validate_only=true\`, where it is accepted, makes every check, writes nothing, and answers what would happen.
- **Errors** are \`{"error": {"code", "message", "category", "remediation", "request_id", "retryable"}}\`. Branch on \`code\`; \`x-errors\` of this document has every code with its meaning and remedy. 400 is malformed or mistyped, 422 is refused by a rule; \`details\` names the fields.
- **Unknown fields** of a body are ignored and named in \`warnings\` of the answer.
- **Pages**: lists answer \`{"data": [...], "next_cursor"}\`. Send \`next_cursor\` as \`cursor\` for the next page; it is null on the last one.
- **Concurrent changes**: send the \`etag\` you read as \`If-Match\` where it is accepted; a resource that has changed since answers 412.
- **Polling**: what is asked for again and again carries an \`ETag\`; send it as \`If-None-Match\` where it is accepted, and the answer is 304 without a body as long as nothing in it has changed.
- **Events** are CloudEvents. \`Accept: text/event-stream\` on \`/deployments/{name}/events\` and \`/operations/{id}/events\` streams them; \`Last-Event-ID\` resumes behind the last one seen.
- **Inference** is not served here but by the gateway, under \`/v1\` on its own port, with the same tokens.
`;
