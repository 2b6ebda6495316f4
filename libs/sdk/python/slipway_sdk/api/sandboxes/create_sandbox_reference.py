from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_reference_dto import CreateReferenceDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.reference_dto import ReferenceDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreateReferenceDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/sandboxes/references",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | ReferenceDto:
    if response.status_code == 201:
        response_201 = ReferenceDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | ReferenceDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateReferenceDto,
) -> Response[ErrorEnvelopeDto | ReferenceDto]:
    """Register an externally hosted sandbox

     Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.

    Args:
        body (CreateReferenceDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | ReferenceDto]
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
    body: CreateReferenceDto,
) -> ErrorEnvelopeDto | ReferenceDto | None:
    """Register an externally hosted sandbox

     Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.

    Args:
        body (CreateReferenceDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | ReferenceDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateReferenceDto,
) -> Response[ErrorEnvelopeDto | ReferenceDto]:
    """Register an externally hosted sandbox

     Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.

    Args:
        body (CreateReferenceDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | ReferenceDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateReferenceDto,
) -> ErrorEnvelopeDto | ReferenceDto | None:
    """Register an externally hosted sandbox

     Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.

    Args:
        body (CreateReferenceDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | ReferenceDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
