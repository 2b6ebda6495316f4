from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_deployment_dto import CreateDeploymentDto
from ...models.deployment_dto import DeploymentDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.rehearsal_dto import RehearsalDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateDeploymentDto,
    validate_only: bool | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["validate_only"] = validate_only

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/deployments",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeploymentDto | ErrorEnvelopeDto | RehearsalDto:
    if response.status_code == 200:
        response_200 = RehearsalDto.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = DeploymentDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DeploymentDto | ErrorEnvelopeDto | RehearsalDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateDeploymentDto,
    validate_only: bool | Unset = UNSET,
) -> Response[DeploymentDto | ErrorEnvelopeDto | RehearsalDto]:
    """Create a deployment

     Only a name for what will serve: roll out a revision to give it a model server. The name is what
    clients send to the gateway as `model`.

    Args:
        validate_only (bool | Unset): `false` unless given.
        body (CreateDeploymentDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | ErrorEnvelopeDto | RehearsalDto]
    """

    kwargs = _get_kwargs(
        body=body,
        validate_only=validate_only,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateDeploymentDto,
    validate_only: bool | Unset = UNSET,
) -> DeploymentDto | ErrorEnvelopeDto | RehearsalDto | None:
    """Create a deployment

     Only a name for what will serve: roll out a revision to give it a model server. The name is what
    clients send to the gateway as `model`.

    Args:
        validate_only (bool | Unset): `false` unless given.
        body (CreateDeploymentDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | ErrorEnvelopeDto | RehearsalDto
    """

    return sync_detailed(
        client=client,
        body=body,
        validate_only=validate_only,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateDeploymentDto,
    validate_only: bool | Unset = UNSET,
) -> Response[DeploymentDto | ErrorEnvelopeDto | RehearsalDto]:
    """Create a deployment

     Only a name for what will serve: roll out a revision to give it a model server. The name is what
    clients send to the gateway as `model`.

    Args:
        validate_only (bool | Unset): `false` unless given.
        body (CreateDeploymentDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | ErrorEnvelopeDto | RehearsalDto]
    """

    kwargs = _get_kwargs(
        body=body,
        validate_only=validate_only,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateDeploymentDto,
    validate_only: bool | Unset = UNSET,
) -> DeploymentDto | ErrorEnvelopeDto | RehearsalDto | None:
    """Create a deployment

     Only a name for what will serve: roll out a revision to give it a model server. The name is what
    clients send to the gateway as `model`.

    Args:
        validate_only (bool | Unset): `false` unless given.
        body (CreateDeploymentDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | ErrorEnvelopeDto | RehearsalDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            validate_only=validate_only,
        )
    ).parsed
