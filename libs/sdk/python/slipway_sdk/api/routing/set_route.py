from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.rehearsal_dto import RehearsalDto
from ...models.route_dto import RouteDto
from ...models.set_route_dto import SetRouteDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    body: SetRouteDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["validate_only"] = validate_only

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/deployments/{name}/route".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | RehearsalDto | RouteDto:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> RehearsalDto | RouteDto:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = RouteDto.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_1 = RehearsalDto.from_dict(data)

            return response_200_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | RehearsalDto | RouteDto]:
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
    body: SetRouteDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | RehearsalDto | RouteDto]:
    """Set the active route target

     `{"revision": "..."}` gives one revision all traffic; `targets` splits it. Gateways follow the
    commit.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (SetRouteDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RehearsalDto | RouteDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    body: SetRouteDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> ErrorEnvelopeDto | RehearsalDto | RouteDto | None:
    """Set the active route target

     `{"revision": "..."}` gives one revision all traffic; `targets` splits it. Gateways follow the
    commit.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (SetRouteDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RehearsalDto | RouteDto
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: SetRouteDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | RehearsalDto | RouteDto]:
    """Set the active route target

     `{"revision": "..."}` gives one revision all traffic; `targets` splits it. Gateways follow the
    commit.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (SetRouteDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RehearsalDto | RouteDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    body: SetRouteDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> ErrorEnvelopeDto | RehearsalDto | RouteDto | None:
    """Set the active route target

     `{"revision": "..."}` gives one revision all traffic; `targets` splits it. Gateways follow the
    commit.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (SetRouteDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RehearsalDto | RouteDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
            validate_only=validate_only,
            if_match=if_match,
        )
    ).parsed
