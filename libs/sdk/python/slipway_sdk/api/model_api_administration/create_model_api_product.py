from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_product_dto import CreateProductDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.product_dto import ProductDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreateProductDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/admin/model-api/products",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelopeDto | ProductDto:
    if response.status_code == 201:
        response_201 = ProductDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | ProductDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateProductDto,
) -> Response[ErrorEnvelopeDto | ProductDto]:
    """Create a model API product

     It is a draft until a publication says which bindings serve it. A tenant's slugs begin with its own
    name; the operator tenant may choose any.

    Args:
        body (CreateProductDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | ProductDto]
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
    body: CreateProductDto,
) -> ErrorEnvelopeDto | ProductDto | None:
    """Create a model API product

     It is a draft until a publication says which bindings serve it. A tenant's slugs begin with its own
    name; the operator tenant may choose any.

    Args:
        body (CreateProductDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | ProductDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateProductDto,
) -> Response[ErrorEnvelopeDto | ProductDto]:
    """Create a model API product

     It is a draft until a publication says which bindings serve it. A tenant's slugs begin with its own
    name; the operator tenant may choose any.

    Args:
        body (CreateProductDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | ProductDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateProductDto,
) -> ErrorEnvelopeDto | ProductDto | None:
    """Create a model API product

     It is a draft until a publication says which bindings serve it. A tenant's slugs begin with its own
    name; the operator tenant may choose any.

    Args:
        body (CreateProductDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | ProductDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
