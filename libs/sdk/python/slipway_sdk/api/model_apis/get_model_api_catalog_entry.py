from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.catalog_entry_dto import CatalogEntryDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import Response


def _get_kwargs(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/model-api-catalog/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CatalogEntryDto | ErrorEnvelopeDto:
    if response.status_code == 200:
        response_200 = CatalogEntryDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CatalogEntryDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
) -> Response[CatalogEntryDto | ErrorEnvelopeDto]:
    """Inspect one managed model API identity without disclosing its supplier

     By id, or by slug with `%2F` for the slash.

    Args:
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CatalogEntryDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        id=id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
) -> CatalogEntryDto | ErrorEnvelopeDto | None:
    """Inspect one managed model API identity without disclosing its supplier

     By id, or by slug with `%2F` for the slash.

    Args:
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CatalogEntryDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        id=id,
        client=client,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
) -> Response[CatalogEntryDto | ErrorEnvelopeDto]:
    """Inspect one managed model API identity without disclosing its supplier

     By id, or by slug with `%2F` for the slash.

    Args:
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CatalogEntryDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        id=id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
) -> CatalogEntryDto | ErrorEnvelopeDto | None:
    """Inspect one managed model API identity without disclosing its supplier

     By id, or by slug with `%2F` for the slash.

    Args:
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CatalogEntryDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
        )
    ).parsed
