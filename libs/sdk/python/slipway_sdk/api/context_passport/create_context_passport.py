from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_passport_dto import CreatePassportDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.passport_dto import PassportDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreatePassportDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/context-passports",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | PassportDto:
    if response.status_code == 201:
        response_201 = PassportDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | PassportDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreatePassportDto,
) -> Response[ErrorEnvelopeDto | PassportDto]:
    """Make a logical session known before its first request

     Gateways make passports by themselves; this one only comes first. The same session again is the same
    passport, renewed.

    Args:
        body (CreatePassportDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PassportDto]
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
    body: CreatePassportDto,
) -> ErrorEnvelopeDto | PassportDto | None:
    """Make a logical session known before its first request

     Gateways make passports by themselves; this one only comes first. The same session again is the same
    passport, renewed.

    Args:
        body (CreatePassportDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PassportDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreatePassportDto,
) -> Response[ErrorEnvelopeDto | PassportDto]:
    """Make a logical session known before its first request

     Gateways make passports by themselves; this one only comes first. The same session again is the same
    passport, renewed.

    Args:
        body (CreatePassportDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PassportDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreatePassportDto,
) -> ErrorEnvelopeDto | PassportDto | None:
    """Make a logical session known before its first request

     Gateways make passports by themselves; this one only comes first. The same session again is the same
    passport, renewed.

    Args:
        body (CreatePassportDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PassportDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
