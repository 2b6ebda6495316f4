import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    id: str,
    *,
    tail: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    stream: str | Unset = UNSET,
    previous: bool | Unset = UNSET,
    follow: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["tail"] = tail

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    params["stream"] = stream

    params["previous"] = previous

    params["follow"] = follow

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}/instances/{id}/logs".format(
            name=quote(str(name), safe=""),
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelopeDto | str:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    id: str,
    *,
    client: AuthenticatedClient,
    tail: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    stream: str | Unset = UNSET,
    previous: bool | Unset = UNSET,
    follow: bool | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | str]:
    """Read or follow the output of an instance

     Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a
    stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells
    who read.

    Args:
        name (str):
        id (str):
        tail (int | Unset): `200` unless given.
        since (datetime.datetime | Unset):
        stream (str | Unset): One of `stdout`, `stderr`, `both`. `"both"` unless given.
        previous (bool | Unset): `false` unless given.
        follow (bool | Unset): `false` unless given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | str]
    """

    kwargs = _get_kwargs(
        name=name,
        id=id,
        tail=tail,
        since=since,
        stream=stream,
        previous=previous,
        follow=follow,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    id: str,
    *,
    client: AuthenticatedClient,
    tail: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    stream: str | Unset = UNSET,
    previous: bool | Unset = UNSET,
    follow: bool | Unset = UNSET,
) -> ErrorEnvelopeDto | str | None:
    """Read or follow the output of an instance

     Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a
    stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells
    who read.

    Args:
        name (str):
        id (str):
        tail (int | Unset): `200` unless given.
        since (datetime.datetime | Unset):
        stream (str | Unset): One of `stdout`, `stderr`, `both`. `"both"` unless given.
        previous (bool | Unset): `false` unless given.
        follow (bool | Unset): `false` unless given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | str
    """

    return sync_detailed(
        name=name,
        id=id,
        client=client,
        tail=tail,
        since=since,
        stream=stream,
        previous=previous,
        follow=follow,
    ).parsed


async def asyncio_detailed(
    name: str,
    id: str,
    *,
    client: AuthenticatedClient,
    tail: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    stream: str | Unset = UNSET,
    previous: bool | Unset = UNSET,
    follow: bool | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | str]:
    """Read or follow the output of an instance

     Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a
    stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells
    who read.

    Args:
        name (str):
        id (str):
        tail (int | Unset): `200` unless given.
        since (datetime.datetime | Unset):
        stream (str | Unset): One of `stdout`, `stderr`, `both`. `"both"` unless given.
        previous (bool | Unset): `false` unless given.
        follow (bool | Unset): `false` unless given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | str]
    """

    kwargs = _get_kwargs(
        name=name,
        id=id,
        tail=tail,
        since=since,
        stream=stream,
        previous=previous,
        follow=follow,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    id: str,
    *,
    client: AuthenticatedClient,
    tail: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    stream: str | Unset = UNSET,
    previous: bool | Unset = UNSET,
    follow: bool | Unset = UNSET,
) -> ErrorEnvelopeDto | str | None:
    """Read or follow the output of an instance

     Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a
    stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells
    who read.

    Args:
        name (str):
        id (str):
        tail (int | Unset): `200` unless given.
        since (datetime.datetime | Unset):
        stream (str | Unset): One of `stdout`, `stderr`, `both`. `"both"` unless given.
        previous (bool | Unset): `false` unless given.
        follow (bool | Unset): `false` unless given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | str
    """

    return (
        await asyncio_detailed(
            name=name,
            id=id,
            client=client,
            tail=tail,
            since=since,
            stream=stream,
            previous=previous,
            follow=follow,
        )
    ).parsed
