from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.operation_envelope_dto import OperationEnvelopeDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/deployments/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | OperationEnvelopeDto:
    if response.status_code == 202:
        response_202 = OperationEnvelopeDto.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto]:
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
    if_match: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto]:
    """Delete a deployment

     A durable operation of kind `delete_deployment`: takes the route away, lets requests in flight end,
    stops the instances, frees the name.

    Args:
        name (str):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
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
    if_match: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationEnvelopeDto | None:
    """Delete a deployment

     A durable operation of kind `delete_deployment`: takes the route away, lets requests in flight end,
    stops the instances, frees the name.

    Args:
        name (str):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationEnvelopeDto
    """

    return sync_detailed(
        name=name,
        client=client,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto]:
    """Delete a deployment

     A durable operation of kind `delete_deployment`: takes the route away, lets requests in flight end,
    stops the instances, frees the name.

    Args:
        name (str):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationEnvelopeDto | None:
    """Delete a deployment

     A durable operation of kind `delete_deployment`: takes the route away, lets requests in flight end,
    stops the instances, frees the name.

    Args:
        name (str):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationEnvelopeDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            if_match=if_match,
        )
    ).parsed
