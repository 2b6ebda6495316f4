from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_sandbox_dto import CreateSandboxDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.sandbox_dto import SandboxDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateSandboxDto | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/sandboxes",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelopeDto | SandboxDto:
    if response.status_code == 201:
        response_201 = SandboxDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | SandboxDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateSandboxDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | SandboxDto]:
    """Create a sandbox, local or on a reference to an external one

     A durable workspace for files; Slipway runs nothing in it. With `reference_id` its files are passed
    on to the external sandbox.

    Args:
        body (CreateSandboxDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | SandboxDto]
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
    body: CreateSandboxDto | Unset = UNSET,
) -> ErrorEnvelopeDto | SandboxDto | None:
    """Create a sandbox, local or on a reference to an external one

     A durable workspace for files; Slipway runs nothing in it. With `reference_id` its files are passed
    on to the external sandbox.

    Args:
        body (CreateSandboxDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | SandboxDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateSandboxDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | SandboxDto]:
    """Create a sandbox, local or on a reference to an external one

     A durable workspace for files; Slipway runs nothing in it. With `reference_id` its files are passed
    on to the external sandbox.

    Args:
        body (CreateSandboxDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | SandboxDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateSandboxDto | Unset = UNSET,
) -> ErrorEnvelopeDto | SandboxDto | None:
    """Create a sandbox, local or on a reference to an external one

     A durable workspace for files; Slipway runs nothing in it. With `reference_id` its files are passed
    on to the external sandbox.

    Args:
        body (CreateSandboxDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | SandboxDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
