import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.deployment_metrics_dto import DeploymentMetricsDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    step: int | Unset = UNSET,
    revision: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    params["step"] = step

    params["revision"] = revision

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}/metrics".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeploymentMetricsDto | ErrorEnvelopeDto:
    if response.status_code == 200:
        response_200 = DeploymentMetricsDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DeploymentMetricsDto | ErrorEnvelopeDto]:
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
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    step: int | Unset = UNSET,
    revision: str | Unset = UNSET,
) -> Response[DeploymentMetricsDto | ErrorEnvelopeDto]:
    """Show how requests to a deployment went

     By revision and step, from the records of the gateways that gates judge, by the same measures. What
    an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the
    operation.

    Args:
        name (str):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        step (int | Unset):
        revision (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentMetricsDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
        from_=from_,
        to=to,
        step=step,
        revision=revision,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    step: int | Unset = UNSET,
    revision: str | Unset = UNSET,
) -> DeploymentMetricsDto | ErrorEnvelopeDto | None:
    """Show how requests to a deployment went

     By revision and step, from the records of the gateways that gates judge, by the same measures. What
    an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the
    operation.

    Args:
        name (str):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        step (int | Unset):
        revision (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentMetricsDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        name=name,
        client=client,
        from_=from_,
        to=to,
        step=step,
        revision=revision,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    step: int | Unset = UNSET,
    revision: str | Unset = UNSET,
) -> Response[DeploymentMetricsDto | ErrorEnvelopeDto]:
    """Show how requests to a deployment went

     By revision and step, from the records of the gateways that gates judge, by the same measures. What
    an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the
    operation.

    Args:
        name (str):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        step (int | Unset):
        revision (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentMetricsDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
        from_=from_,
        to=to,
        step=step,
        revision=revision,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    step: int | Unset = UNSET,
    revision: str | Unset = UNSET,
) -> DeploymentMetricsDto | ErrorEnvelopeDto | None:
    """Show how requests to a deployment went

     By revision and step, from the records of the gateways that gates judge, by the same measures. What
    an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the
    operation.

    Args:
        name (str):
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        step (int | Unset):
        revision (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentMetricsDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            from_=from_,
            to=to,
            step=step,
            revision=revision,
        )
    ).parsed
