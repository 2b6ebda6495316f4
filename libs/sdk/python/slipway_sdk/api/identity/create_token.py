from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_token_dto import CreateTokenDto
from ...models.created_token_dto import CreatedTokenDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreateTokenDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/tokens",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CreatedTokenDto | ErrorEnvelopeDto:
    if response.status_code == 201:
        response_201 = CreatedTokenDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CreatedTokenDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateTokenDto,
) -> Response[CreatedTokenDto | ErrorEnvelopeDto]:
    """Create an API token

     `token` of the answer is the secret; it is shown this once and only its hash is stored. It ends
    after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.

    Args:
        body (CreateTokenDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedTokenDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateTokenDto,
) -> CreatedTokenDto | ErrorEnvelopeDto | None:
    """Create an API token

     `token` of the answer is the secret; it is shown this once and only its hash is stored. It ends
    after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.

    Args:
        body (CreateTokenDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedTokenDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateTokenDto,
) -> Response[CreatedTokenDto | ErrorEnvelopeDto]:
    """Create an API token

     `token` of the answer is the secret; it is shown this once and only its hash is stored. It ends
    after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.

    Args:
        body (CreateTokenDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedTokenDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateTokenDto,
) -> CreatedTokenDto | ErrorEnvelopeDto | None:
    """Create an API token

     `token` of the answer is the secret; it is shown this once and only its hash is stored. It ends
    after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.

    Args:
        body (CreateTokenDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedTokenDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
