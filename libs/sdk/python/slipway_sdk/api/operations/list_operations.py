from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.operation_page_dto import OperationPageDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["status"] = status

    params["kind"] = kind

    params["resource_name"] = resource_name

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/operations",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | OperationPageDto:
    if response.status_code == 200:
        response_200 = OperationPageDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | OperationPageDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationPageDto]:
    """List durable operations, newest first

     `status`, `kind` and `resource_name` narrow the list.

    Args:
        status (str | Unset): One of `pending`, `running`, `waiting`, `cancelling`, `succeeded`,
            `failed`, `cancelled`.
        kind (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationPageDto]
    """

    kwargs = _get_kwargs(
        status=status,
        kind=kind,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    status: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationPageDto | None:
    """List durable operations, newest first

     `status`, `kind` and `resource_name` narrow the list.

    Args:
        status (str | Unset): One of `pending`, `running`, `waiting`, `cancelling`, `succeeded`,
            `failed`, `cancelled`.
        kind (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationPageDto
    """

    return sync_detailed(
        client=client,
        status=status,
        kind=kind,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationPageDto]:
    """List durable operations, newest first

     `status`, `kind` and `resource_name` narrow the list.

    Args:
        status (str | Unset): One of `pending`, `running`, `waiting`, `cancelling`, `succeeded`,
            `failed`, `cancelled`.
        kind (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationPageDto]
    """

    kwargs = _get_kwargs(
        status=status,
        kind=kind,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationPageDto | None:
    """List durable operations, newest first

     `status`, `kind` and `resource_name` narrow the list.

    Args:
        status (str | Unset): One of `pending`, `running`, `waiting`, `cancelling`, `succeeded`,
            `failed`, `cancelled`.
        kind (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationPageDto
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            kind=kind,
            resource_name=resource_name,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
