// A real OpenID provider as a process of its own, for tests. Told by its parent: {port, audience, jwks, clients: {<id>: <org_id>}}.
// Answers `{port}` once it listens. A client's id is the `sub` of the tokens it gets by client_credentials.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

process.once('message', ({ port, audience, jwks, clients }) => {
  const server = createServer();
  server.listen(port, '127.0.0.1', () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const provider = new Provider(issuer, {
      jwks,
      clients: Object.keys(clients).map((id) => ({
        client_id: id,
        client_secret: `secret-of-${id}`,
        id_token_signed_response_alg: 'ES256',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => audience,
          getResourceServerInfo: () => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
      extraTokenClaims: (_context, token) => ({ org_id: clients[token.clientId] }),
    });
    server.on('request', provider.callback());
    process.send({ port: server.address().port });
  });
});
process.once('disconnect', () => process.exit(0));
