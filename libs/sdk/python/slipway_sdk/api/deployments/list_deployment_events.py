from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.event_page_dto import EventPageDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    after: int | Unset = UNSET,
    type_: str | Unset = UNSET,
    order: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["type"] = type_

    params["order"] = order

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}/events".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | EventPageDto:
    if response.status_code == 200:
        response_200 = EventPageDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | EventPageDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    type_: str | Unset = UNSET,
    order: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | EventPageDto]:
    """List or follow the events of a deployment

     With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on, else
    from the first that is kept.

    Args:
        name (str):
        after (int | Unset):
        type_ (str | Unset):
        order (str | Unset): One of `asc`, `desc`. `"desc"` unless given.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | EventPageDto]
    """

    kwargs = _get_kwargs(
        name=name,
        after=after,
        type_=type_,
        order=order,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    type_: str | Unset = UNSET,
    order: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | EventPageDto | None:
    """List or follow the events of a deployment

     With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on, else
    from the first that is kept.

    Args:
        name (str):
        after (int | Unset):
        type_ (str | Unset):
        order (str | Unset): One of `asc`, `desc`. `"desc"` unless given.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | EventPageDto
    """

    return sync_detailed(
        name=name,
        client=client,
        after=after,
        type_=type_,
        order=order,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    type_: str | Unset = UNSET,
    order: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | EventPageDto]:
    """List or follow the events of a deployment

     With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on, else
    from the first that is kept.

    Args:
        name (str):
        after (int | Unset):
        type_ (str | Unset):
        order (str | Unset): One of `asc`, `desc`. `"desc"` unless given.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | EventPageDto]
    """

    kwargs = _get_kwargs(
        name=name,
        after=after,
        type_=type_,
        order=order,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    type_: str | Unset = UNSET,
    order: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | EventPageDto | None:
    """List or follow the events of a deployment

     With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on, else
    from the first that is kept.

    Args:
        name (str):
        after (int | Unset):
        type_ (str | Unset):
        order (str | Unset): One of `asc`, `desc`. `"desc"` unless given.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | EventPageDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            after=after,
            type_=type_,
            order=order,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
